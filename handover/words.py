import json,sys,glob
sys.path.insert(0,'.')
from course_utils.tools.workspace.overview import _read_cells,_words,STATED
T=0;TM=0
for f in sorted(glob.glob('notebooks/[0-9]*.ipynb')):
    nb=json.load(open(f)); cells=list(_read_cells(nb))
    texts=[t for _,k,t in cells if k=='markdown']
    w=sum(map(_words,texts)); code=[t for _,k,t in cells if k=='code']
    lines=sum(len([l for l in t.splitlines() if l.strip()]) for t in code)
    figs=sum('image/png' in o.get('data',{}) for c in nb['cells'] for o in c.get('outputs',[]))
    figs+=sum('attachment:' in t or '.png)' in t or '<img' in t or '.svg' in t for t in texts)
    q=sum(n.startswith('quiz-') for n,_,_ in cells)
    ex=sum(int(m) for t in texts for m in STATED.findall(t))
    m=w/200+len(code)*.5+lines*3/60+figs+q+ex
    print(f"{f[10:]:40} words {w} code {len(code)} lines {lines} figs {figs} quiz {q} exmin {ex} -> {m:.0f}"); T+=w;TM+=m
print(T,TM/60)
